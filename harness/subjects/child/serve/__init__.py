"""The part of a subject's process that talks to the parent: requests, answers, and the loop between them."""
