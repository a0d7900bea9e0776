"""Training batches of images by PyTorch's DataLoader with torchvision and Pillow:
what the loader of datasets/images is measured against.

usage: loader_peer.py first|later FOLDER WORKERS BATCHES
FOLDER has a folder of .jpg files for each class, as $IWDA_BENCH_IMAGES after
"IWDA_BENCH_IMAGES=FOLDER go test -run '^$' -bench Loader ./datasets/images".
Prints the milliseconds of a batch in the first epoch or in the later ones, of which
there are as many as BATCHES fill, at least two.
"""
import json
import statistics
import sys
import time

import torch
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder

BATCH = 36


def main(epoch, folder, workers, batches):
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
    times = []
    for _ in range(1 + max(2, batches // len(loader))):
        began = time.perf_counter()
        for _ in loader:
            pass
        times.append((time.perf_counter() - began) / len(loader) * 1e3)
    print(json.dumps({"ms": times[0] if epoch == "first" else statistics.median(times[1:])}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
