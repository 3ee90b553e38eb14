"""medsim: term-similarity datasets from medical terminologies."""
