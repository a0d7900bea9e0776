package catalogue

// office31 describes Office-31: three domains of objects found in an office, from
// Saenko, Kulis, Fritz and Darrell, "Adapting Visual Category Models to New
// Domains" (2010).
func office31() Dataset {
	return imageFiles(Dataset{
		Name:  "office31",
		Title: "Office-31",
		Classes: []string{
			"back_pack", "bike", "bike_helmet", "bookcase", "bottle", "calculator", "desk_chair", "desk_lamp",
			"desktop_computer", "file_cabinet", "headphones", "keyboard", "laptop_computer", "letter_tray",
			"mobile_phone", "monitor", "mouse", "mug", "paper_notebook", "pen", "phone", "printer", "projector",
			"punchers", "ring_binder", "ruler", "scissors", "speaker", "stapler", "tape_dispenser", "trash_can",
		},
		Domains: []Domain{
			{
				Name:    "amazon",
				folders: []string{"amazon/images", "amazon"},
				Train: []int{
					92, 82, 72, 82, 36, 94, 91, 97, 97, 81, 99, 100, 100, 98, 100, 99,
					100, 94, 96, 95, 93, 100, 98, 98, 90, 75, 100, 99, 99, 96, 64,
				},
			},
			{
				Name:    "dslr",
				folders: []string{"dslr/images", "dslr"},
				Train: []int{
					12, 21, 24, 12, 16, 12, 13, 14, 15, 15, 13, 10, 24, 16, 31, 22,
					12, 8, 10, 10, 13, 15, 23, 18, 10, 7, 18, 26, 21, 22, 15,
				},
			},
			{
				Name:    "webcam",
				folders: []string{"webcam/images", "webcam"},
				Train: []int{
					29, 21, 28, 12, 16, 31, 40, 18, 21, 19, 27, 27, 30, 19, 30, 43,
					30, 27, 28, 32, 16, 20, 30, 27, 40, 11, 25, 30, 24, 23, 21,
				},
			},
		},
	}, "Saenko et al. 2010, Adapting Visual Category Models to New Domains; archive domain_adaptation_images.tar.gz",
		"amazon/images/back_pack/frame_0001.jpg")
}
