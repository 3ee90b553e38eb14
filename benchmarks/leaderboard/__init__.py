"""Results of models that packages bring, in the format of result.json."""
