#!/bin/bash
# Packs on a Slurm cluster what is still missing of a plan, and makes the data set at the end:
#
#   brimful plan shards/ --out packed --capacity 8192 --units 2000
#   submit.sh packed.plan 20 --partition=cpu --time=1:00:00 --cpus-per-task=4
#
# The arguments are the plan, how many units a task runs, and options for sbatch. An array holds 1000 tasks unless the cluster says
# otherwise, and a task should take minutes. The plan, the inputs and the output are to be on a file system that all nodes share.
#
# It prints the numbers of the jobs. Whatever went wrong, a lost task, a cancelled job, a controller that forgot everything: the same
# command again runs what has no receipt, and nothing twice.
set -euo pipefail
plan=$(realpath "$1") per_task=${2:-1}
shift $(($# < 2 ? $# : 2))

missing=$(brimful missing --plan "$plan" --per-task "$per_task")
after=()
if [ -n "$missing" ]; then
	array=$(sbatch --parsable --array="$missing" "$@" "$(dirname "$0")/slurm.sh" "$plan" "$per_task")
	after=(--dependency="afterany:${array%%;*}") # afterany: if units are missing, finish says which
	echo "$array"
fi
sbatch --parsable --job-name=brimful-finish --requeue "${after[@]}" "$@" --wrap "brimful finish --plan $(printf %q "$plan")"
