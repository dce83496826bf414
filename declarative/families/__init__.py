"""Model families: a module for each maker or for families that share a kind of layer."""
