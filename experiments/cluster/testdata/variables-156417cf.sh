#!/bin/bash
# What the variables of the experiment were when this was written.
export IWDA_DATA='/data of all'
unset WEIGHTS
