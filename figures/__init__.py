"""One file per figure: data in, matplotlib figure out."""
