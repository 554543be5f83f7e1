"""The main job: Machine and Workload to a Prediction with a verdict."""
