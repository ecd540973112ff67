"""What is to be run: study files, loaded and checked. Starts no process and imports nothing of ours."""
