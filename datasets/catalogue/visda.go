package catalogue

// visda describes the classification task of VisDA-2017: renderings of 3D models
// (its training archive) and photographs (its validation archive), from Peng et
// al., "VisDA: The Visual Domain Adaptation Challenge" (2017).
func visda() Dataset {
	d := imageFiles(Dataset{
		Name:  "visda",
		Title: "VisDA-2017",
		Classes: []string{
			"aeroplane", "bicycle", "bus", "car", "horse", "knife",
			"motorcycle", "person", "plant", "skateboard", "train", "truck",
		},
		Domains: []Domain{
			{
				Name:    "synthetic",
				folders: []string{"train", "synthetic"},
				Train:   []int{14309, 7365, 16640, 12800, 9512, 14240, 17360, 12160, 10731, 11680, 16000, 9600},
			},
			{
				Name:    "real",
				folders: []string{"validation", "real"},
				Train:   []int{3646, 3475, 4690, 10401, 4691, 2075, 5796, 4000, 4549, 2281, 4236, 5548},
			},
		},
	}, "Peng et al. 2017, VisDA: The Visual Domain Adaptation Challenge, classification; archives train.tar and validation.tar",
		"train/aeroplane/src_1_02691156_1.png")
	d.Tasks = []string{"synthetic-real"}
	return d
}
