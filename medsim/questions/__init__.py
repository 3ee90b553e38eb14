"""Multiple-choice questions on names: models choose the synonym of a term among names."""
