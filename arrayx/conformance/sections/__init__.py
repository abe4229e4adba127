"""The sections of the suite, one file each, and all items in order."""
