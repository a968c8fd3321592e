"""The worker's loop: assignment, polling, labelling and the checkpoint cycle."""
