"""Areas of interest: the arena, the methods compared, configurations and the study."""
