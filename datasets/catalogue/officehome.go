package catalogue

// officeHome describes Office-Home: four domains of everyday objects, from
// Venkateswara, Eusebio, Chakraborty and Panchanathan, "Deep Hashing Network for
// Unsupervised Domain Adaptation" (2017). Its label order is that of the lists that
// the methods of the paper were published with, not the alphabet's.
func officeHome() Dataset {
	return imageFiles(Dataset{
		Name:  "officehome",
		Title: "Office-Home",
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
				folders: []string{"Art", "OfficeHomeDataset_10072016/Art"},
				Train: []int{
					15, 21, 99, 40, 44, 22, 42, 20, 41, 51, 46, 20, 18, 46, 26, 40, 40, 43, 40, 75, 19, 49,
					16, 23, 44, 79, 18, 20, 42, 32, 46, 21, 41, 74, 24, 19, 27, 47, 45, 15, 19, 30, 21, 18,
					20, 18, 40, 69, 20, 33, 90, 49, 46, 76, 25, 20, 40, 40, 46, 40, 16, 72, 20, 49, 20,
				},
			},
			{
				Name:    "clipart",
				folders: []string{"Clipart", "OfficeHomeDataset_10072016/Clipart"},
				Train: []int{
					48, 41, 99, 52, 99, 40, 42, 99, 42, 99, 40, 99, 99, 40, 99, 98, 99, 39, 64, 99, 41, 99,
					40, 41, 99, 69, 76, 99, 99, 40, 43, 83, 56, 60, 40, 40, 64, 46, 50, 67, 51, 75, 53, 87,
					90, 40, 73, 99, 78, 46, 99, 40, 60, 99, 40, 99, 99, 42, 61, 61, 80, 53, 40, 40, 71,
				},
			},
			{
				Name:    "product",
				folders: []string{"Product", "OfficeHomeDataset_10072016/Product"},
				Train: []int{
					67, 67, 62, 67, 96, 71, 49, 45, 46, 99, 72, 90, 99, 99, 40, 43, 57, 42, 88, 44, 38, 41,
					98, 83, 58, 90, 96, 60, 98, 72, 99, 93, 99, 79, 43, 47, 62, 43, 58, 58, 70, 40, 93, 99,
					99, 41, 47, 99, 81, 81, 91, 54, 47, 56, 65, 99, 76, 75, 41, 43, 60, 41, 68, 59, 56,
				},
			},
			{
				Name:    "real",
				folders: []string{"Real World", "OfficeHomeDataset_10072016/Real World", "Real"},
				Train: []int{
					51, 81, 78, 60, 64, 58, 66, 67, 77, 67, 72, 57, 75, 85, 59, 83, 52, 85, 76, 99, 67, 58,
					49, 62, 82, 60, 60, 65, 71, 46, 88, 68, 99, 86, 53, 68, 64, 66, 60, 41, 30, 51, 81, 52,
					81, 43, 80, 96, 68, 73, 75, 78, 54, 99, 65, 77, 53, 73, 36, 63, 59, 83, 64, 75, 23,
				},
			},
		},
	}, "Venkateswara et al. 2017, Deep Hashing Network for Unsupervised Domain Adaptation; archive OfficeHomeDataset_10072016.zip",
		"Real World/Alarm_Clock/00001.jpg")
}
