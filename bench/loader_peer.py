"""Training batches of images by PyTorch's DataLoader with torchvision and Pillow:
what the loader of datasets/images is measured against.

usage: loader_peer.py FOLDER WORKERS [EPOCHS]
FOLDER has a folder of .jpg files for each class, as $IWDA_BENCH_IMAGES after
"IWDA_BENCH_IMAGES=FOLDER go test -run '^$' -bench Loader ./datasets/images".
Prints the images a second of the first epoch and the median of the later ones.
"""
import statistics
import sys
import time

import torch
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder

BATCH = 36


def main(folder, workers, epochs=6):
    torch.set_num_threads(1)
    view = transforms.Compose([
        transforms.Resize((256, 256), interpolation=transforms.InterpolationMode.BICUBIC),
        transforms.RandomResizedCrop(224),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    ])
    loader = DataLoader(ImageFolder(folder, view), batch_size=BATCH, shuffle=True, drop_last=True,
                        num_workers=workers, persistent_workers=workers > 0)
    speeds = []
    for _ in range(epochs):
        began, images = time.perf_counter(), 0
        for values, _ in loader:
            images += len(values)
        speeds.append(images / (time.perf_counter() - began))
    print(f"first {speeds[0]:.0f} later {statistics.median(speeds[1:]):.0f} images/s")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *map(int, sys.argv[3:]))
