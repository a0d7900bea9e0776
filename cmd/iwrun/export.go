package main

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"iwda/adaptation/adapt/names"
	"iwda/adaptation/predict"
	"iwda/experiments/model"
	"iwda/internal/commandline"
	"iwda/internal/input"
	"iwda/internal/wholefile"
)

func newExportCommand(s streams) *cli.Command {
	var onnx, folder, shares string
	var trust model.Trust
	return &cli.Command{
		Name:      "export",
		Usage:     "write a model for other programs: as ONNX, or for PyTorch",
		UsageText: "iwrun export MODEL --onnx FILE [--shares SHARES]\niwrun export MODEL -o FOLDER",
		Description: `MODEL is the folder of iwrun adapt, of a finished run, or another one that iwrun predict takes. An ONNX
file does everything from raw rows to calibrated and corrected probabilities. If there are several models, it gives the
mean of their probabilities. A folder has model.safetensors and model.json. It needs no other file, and PyTorch can read it.

Examples:
  iwrun export adapt-out --onnx model.onnx
  iwrun export results/digits/subsampled/usps-mnist/iwdan/seed-1 -o model`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "onnx", Destination: &onnx, Usage: "write an ONNX `FILE`, .onnx"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Destination: &folder, Usage: "write the model into `FOLDER`"},
			sharesFlag(&shares, ""),
		}, commandline.Advanced(trustFlags(&trust)...)...),
		Action: func(c *cli.Context) error {
			switch {
			case c.NArg() != 1:
				return commandline.WrongUsage("name one model's folder")
			case onnx == "" && folder == "":
				return commandline.WrongUsage("where to? name a file with --onnx FILE, or a folder with -o FOLDER")
			case folder != "" && onnx == "" && c.IsSet("shares"):
				return commandline.WrongUsage("--shares is for --onnx; a folder keeps all class shares of the model")
			case shares == predict.EstimateShares:
				return commandline.WrongUsage("--shares %s needs rows to estimate from; iwrun predict has them", predict.EstimateShares)
			}
			read := append(model.Files(c.Args().First()), shares)
			if err := names.CheckApart(append(model.Files(folder), onnx), read); err != nil {
				return commandline.WrongUsage("%v", err)
			}
			if onnx != "" {
				if _, err := commandline.Ending("--onnx", onnx, "", "onnx"); err != nil {
					return commandline.WrongUsage("%v", err)
				}
			}
			return runExport(c.Args().First(), onnx, folder, shares, trust, s)
		},
	}
}

// runExport writes the model of a folder, or those that predict together, as an ONNX file, as
// a folder, or both.
func runExport(from, onnx, folder, sharesName string, trust model.Trust, s streams) error {
	members, err := trust.OpenEnsemble(from)
	if err != nil {
		return input.Wrong(err)
	}
	if onnx != "" {
		shares, err := predict.NewEnsemble(members, predict.Options{}).Shares(context.Background(), sharesName, nil)
		if err != nil {
			return fmt.Errorf("--shares %s: %w", sharesName, err)
		}
		if err := wholefile.Write(onnx, func(w io.Writer) error { return model.WriteONNX(w, members, shares) }); err != nil {
			return err
		}
		fmt.Fprintln(s.out, onnx)
	}
	if folder != "" {
		if err := model.Save(folder, members...); err != nil {
			return err
		}
		fmt.Fprintln(s.out, folder)
	}
	return nil
}
