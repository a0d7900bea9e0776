package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"iwda/experiments/doctor"
	"iwda/experiments/engine"
)

func newDoctorCommand(s streams) *cli.Command {
	var o workOptions
	return &cli.Command{
		Name:      "doctor",
		Usage:     "print versions, devices and threads, and what is wrong with them",
		UsageText: "iwrun doctor [FLAGS]",
		Description: `You can add -j, --device and other flags of a command that trains: doctor says what they mean on this machine.

Examples:
  iwrun doctor
  iwrun doctor --device cuda:0 -j 2`,
		Flags: o.machineFlags(),
		Action: withoutArguments(func(*cli.Context) error {
			facts := doctor.Examine()
			if facts.Missing = s.ask(engine.GetFacts, nil, &facts.Facts); facts.Missing == nil {
				if err := o.devices(true, s); err != nil {
					return err
				}
			}
			facts.Device, facts.Jobs, facts.Threads = strings.Join(o.Schedule.Devices, ", "), o.Schedule.AtOnce(), o.Schedule.Threads
			facts.Print(s.out)
			return nil
		}),
	}
}
