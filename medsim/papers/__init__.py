"""The numbers printed in the papers that medsim follows, as ``printed/*.json``."""
