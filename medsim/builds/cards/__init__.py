"""Cards of datasets: what they are, in words for people and in YAML for Hugging Face's hub."""
