"""What every package uses: errors for the user, files read and written, values converted."""
