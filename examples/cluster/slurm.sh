#!/bin/bash
#SBATCH --job-name=brimful
#SBATCH --requeue
#SBATCH --open-mode=append
# One task of an array, which runs some units of a plan. submit.sh submits the array; by hand it is
#
#   sbatch --array="$(brimful missing --plan packed.plan --per-task 20)" slurm.sh packed.plan 20
#
# Slurm starts a task again when its node is lost, but not when its command fails. The task asks for that itself, as long as it was not
# started again three times. Exit status 2 says that the command is wrong, which another try would not change.
plan=$1 per_task=${2:-1}

brimful run-unit --plan "$plan" --per-task "$per_task" --unit "$SLURM_ARRAY_TASK_ID"
status=$?
if [ $status -ne 0 ] && [ $status -ne 2 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
	# Not $SLURM_JOB_ID: for one of the tasks that is the number of the whole array.
	scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" && sleep 60 # until it is ended
fi
exit $status
