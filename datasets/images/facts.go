package images

// Office31 describes Office-31: three domains of objects found in an office, from
// Saenko, Kulis, Fritz and Darrell, "Adapting Visual Category Models to New
// Domains" (2010).
func Office31() Dataset {
	return Dataset{
		Name:    "office31",
		Title:   "Office-31",
		Source:  "Saenko et al. 2010, Adapting Visual Category Models to New Domains; archive domain_adaptation_images.tar.gz",
		Example: "amazon/images/back_pack/frame_0001.jpg",
		Classes: []string{
			"back_pack", "bike", "bike_helmet", "bookcase", "bottle", "calculator", "desk_chair", "desk_lamp",
			"desktop_computer", "file_cabinet", "headphones", "keyboard", "laptop_computer", "letter_tray",
			"mobile_phone", "monitor", "mouse", "mug", "paper_notebook", "pen", "phone", "printer", "projector",
			"punchers", "ring_binder", "ruler", "scissors", "speaker", "stapler", "tape_dispenser", "trash_can",
		},
		Domains: []Domain{
			{
				Name:    "amazon",
				Folders: []string{"amazon/images", "amazon"},
				Counts: []int{
					92, 82, 72, 82, 36, 94, 91, 97, 97, 81, 99, 100, 100, 98, 100, 99,
					100, 94, 96, 95, 93, 100, 98, 98, 90, 75, 100, 99, 99, 96, 64,
				},
			},
			{
				Name:    "dslr",
				Folders: []string{"dslr/images", "dslr"},
				Counts: []int{
					12, 21, 24, 12, 16, 12, 13, 14, 15, 15, 13, 10, 24, 16, 31, 22,
					12, 8, 10, 10, 13, 15, 23, 18, 10, 7, 18, 26, 21, 22, 15,
				},
			},
			{
				Name:    "webcam",
				Folders: []string{"webcam/images", "webcam"},
				Counts: []int{
					29, 21, 28, 12, 16, 31, 40, 18, 21, 19, 27, 27, 30, 19, 30, 43,
					30, 27, 28, 32, 16, 20, 30, 27, 40, 11, 25, 30, 24, 23, 21,
				},
			},
		},
	}
}

// OfficeHome describes Office-Home: four domains of everyday objects, from
// Venkateswara, Eusebio, Chakraborty and Panchanathan, "Deep Hashing Network for
// Unsupervised Domain Adaptation" (2017). Its label order is that of the lists that
// the methods of the paper were published with, not the alphabet's.
func OfficeHome() Dataset {
	return Dataset{
		Name:    "officehome",
		Title:   "Office-Home",
		Source:  "Venkateswara et al. 2017, Deep Hashing Network for Unsupervised Domain Adaptation; archive OfficeHomeDataset_10072016.zip",
		Example: "Real World/Alarm_Clock/00001.jpg",
		Classes: []string{
			"Drill", "Exit_Sign", "Bottle", "Glasses", "Computer", "File_Cabinet", "Shelf", "Toys", "Sink", "Laptop",
			"Kettle", "Folder", "Keyboard", "Flipflops", "Pencil", "Bed", "Hammer", "ToothBrush", "Couch", "Bike",
			"Postit_Notes", "Mug", "Webcam", "Desk_Lamp", "Telephone", "Helmet", "Mouse", "Pen", "Monitor", "Mop",
			"Sneakers", "Notebook", "Backpack", "Alarm_Clock", "Push_Pin", "Paper_Clip", "Batteries", "Radio", "Fan",
			"Ruler", "Pan", "Screwdriver", "Trash_Can", "Printer", "Speaker", "Eraser", "Bucket", "Chair", "Calendar",
			"Calculator", "Flowers", "Lamp_Shade", "Spoon", "Candles", "Clipboards", "Scissors", "TV", "Curtains",
			"Fork", "Soda", "Table", "Knives", "Oven", "Refrigerator", "Marker",
		},
		Domains: []Domain{
			{
				Name:    "art",
				Folders: []string{"Art", "OfficeHomeDataset_10072016/Art"},
				Counts: []int{
					15, 21, 99, 40, 44, 22, 42, 20, 41, 51, 46, 20, 18, 46, 26, 40, 40, 43, 40, 75, 19, 49,
					16, 23, 44, 79, 18, 20, 42, 32, 46, 21, 41, 74, 24, 19, 27, 47, 45, 15, 19, 30, 21, 18,
					20, 18, 40, 69, 20, 33, 90, 49, 46, 76, 25, 20, 40, 40, 46, 40, 16, 72, 20, 49, 20,
				},
			},
			{
				Name:    "clipart",
				Folders: []string{"Clipart", "OfficeHomeDataset_10072016/Clipart"},
				Counts: []int{
					48, 41, 99, 52, 99, 40, 42, 99, 42, 99, 40, 99, 99, 40, 99, 98, 99, 39, 64, 99, 41, 99,
					40, 41, 99, 69, 76, 99, 99, 40, 43, 83, 56, 60, 40, 40, 64, 46, 50, 67, 51, 75, 53, 87,
					90, 40, 73, 99, 78, 46, 99, 40, 60, 99, 40, 99, 99, 42, 61, 61, 80, 53, 40, 40, 71,
				},
			},
			{
				Name:    "product",
				Folders: []string{"Product", "OfficeHomeDataset_10072016/Product"},
				Counts: []int{
					67, 67, 62, 67, 96, 71, 49, 45, 46, 99, 72, 90, 99, 99, 40, 43, 57, 42, 88, 44, 38, 41,
					98, 83, 58, 90, 96, 60, 98, 72, 99, 93, 99, 79, 43, 47, 62, 43, 58, 58, 70, 40, 93, 99,
					99, 41, 47, 99, 81, 81, 91, 54, 47, 56, 65, 99, 76, 75, 41, 43, 60, 41, 68, 59, 56,
				},
			},
			{
				Name:    "real",
				Folders: []string{"Real World", "OfficeHomeDataset_10072016/Real World", "Real"},
				Counts: []int{
					51, 81, 78, 60, 64, 58, 66, 67, 77, 67, 72, 57, 75, 85, 59, 83, 52, 85, 76, 99, 67, 58,
					49, 62, 82, 60, 60, 65, 71, 46, 88, 68, 99, 86, 53, 68, 64, 66, 60, 41, 30, 51, 81, 52,
					81, 43, 80, 96, 68, 73, 75, 78, 54, 99, 65, 77, 53, 73, 36, 63, 59, 83, 64, 75, 23,
				},
			},
		},
	}
}

// VisDA describes the classification task of VisDA-2017: renderings of 3D models
// (its training archive) and photographs (its validation archive), from Peng et
// al., "VisDA: The Visual Domain Adaptation Challenge" (2017).
func VisDA() Dataset {
	return Dataset{
		Name:    "visda",
		Title:   "VisDA-2017",
		Source:  "Peng et al. 2017, VisDA: The Visual Domain Adaptation Challenge, classification; archives train.tar and validation.tar",
		Example: "train/aeroplane/src_1_02691156_1.png",
		Classes: []string{
			"aeroplane", "bicycle", "bus", "car", "horse", "knife",
			"motorcycle", "person", "plant", "skateboard", "train", "truck",
		},
		Domains: []Domain{
			{
				Name:    "synthetic",
				Folders: []string{"train", "synthetic"},
				Counts:  []int{14309, 7365, 16640, 12800, 9512, 14240, 17360, 12160, 10731, 11680, 16000, 9600},
			},
			{
				Name:    "real",
				Folders: []string{"validation", "real"},
				Counts:  []int{3646, 3475, 4690, 10401, 4691, 2075, 5796, 4000, 4549, 2281, 4236, 5548},
			},
		},
	}
}
