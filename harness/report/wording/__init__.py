"""Parts that several reports share: words, places, overviews."""
