"""Writes reference.json: outputs, and the values that other libraries compute of them.

    python3 make.py > reference.json

needs scikit-learn, SciPy, scikit-image, sacrebleu, rouge_score, pycocotools and Levenshtein.
Scores are multiples of 1/64, so that they are the same numbers in float32. The calibration error is
computed here from its definition. References of several classes are means over the classes that
occur.
"""

import contextlib
import json
import math
import sys
import warnings

import Levenshtein
import numpy as np
from rouge_score import rouge_scorer
from sacrebleu.metrics import BLEU, CHRF
from scipy import stats
from skimage.metrics import peak_signal_noise_ratio, structural_similarity
from sklearn import metrics as sk

np.float = float  # pycocotools uses the name that NumPy removed
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

warnings.filterwarnings("ignore")
rng = np.random.default_rng(7)


def sixtyfourths(low, high, shape):
    return rng.integers(low * 64, high * 64, shape) / 64


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def averages(want, true, predicted, **more):
    for average in ["macro", "micro", "weighted"]:
        name = f" ({average})"
        args = dict(average=average, zero_division=0, **more)
        want["precision" + name] = 100 * sk.precision_score(true, predicted, **args)
        want["recall" + name] = 100 * sk.recall_score(true, predicted, **args)
        want["F1" + name] = 100 * sk.f1_score(true, predicted, **args)
        want["F2" + name] = 100 * sk.fbeta_score(true, predicted, beta=2, **args)
        want["Jaccard" + name] = 100 * sk.jaccard_score(true, predicted, **args)
    one = dict(labels=[1], average=None, zero_division=0)
    want["precision (class 1)"] = 100 * sk.precision_score(true, predicted, **one)[0]
    want["recall (class 1)"] = 100 * sk.recall_score(true, predicted, **one)[0]
    want["F1 (class 1)"] = 100 * sk.f1_score(true, predicted, **one)[0]


def calibration(p, true, bins):
    confidence, right = p.max(axis=1), p.argmax(axis=1) == true
    bin = np.ceil(confidence * bins) - 1
    error = 0
    for b in range(bins):
        chosen = bin == b
        if chosen.any():
            error += chosen.mean() * abs(right[chosen].mean() - confidence[chosen].mean())
    return 100 * error


def classes(name, items, k, absent=()):
    scores = sixtyfourths(-3, 3, (items, k))
    true = rng.choice([c for c in range(k) if c not in absent], items)
    scores[np.arange(items), true] += np.round(rng.random(items) * 128) / 64
    # Padding is class 99.
    padded = rng.random(items) < 0.1
    p, t, kept = softmax(scores)[~padded], true[~padded], scores[~padded]
    predicted = p.argmax(axis=1)
    want = {
        "accuracy": 100 * sk.accuracy_score(t, predicted),
        "kappa": sk.cohen_kappa_score(t, predicted),
        "MCC": sk.matthews_corrcoef(t, predicted),
        "log loss": sk.log_loss(t, p, labels=range(k)),
        "calibration error (15 bins)": calibration(p, t, 15),
    }
    averages(want, t, predicted)
    if k == 2:
        want["AUROC"] = sk.roc_auc_score(t, kept[:, 1] - kept[:, 0])
        want["AUPRC"] = sk.average_precision_score(t, kept[:, 1] - kept[:, 0])
    else:
        want["top-3 accuracy"] = 100 * sk.top_k_accuracy_score(t, p, k=3, labels=range(k))
        here = [c for c in range(k) if (t == c).any()]
        want["AUROC"] = np.mean([sk.roc_auc_score(t == c, p[:, c]) for c in here])
        want["AUPRC"] = np.mean([sk.average_precision_score(t == c, p[:, c]) for c in here])
    return {
        "name": name,
        "scores": scores.ravel().tolist(),
        "targets": np.where(padded, 99, true).tolist(),
        "want": want,
        "matrix": sk.confusion_matrix(t, predicted, labels=range(k)).tolist(),
    }


def labels(name, items, k):
    scores = sixtyfourths(-3, 3, (items, k))
    true = (rng.random((items, k)) < 0.4).astype(int)
    scores = scores + true
    predicted = (scores > 0).astype(int)
    want = {
        "exact match": 100 * sk.accuracy_score(true, predicted),
        "Hamming score": 100 * (1 - sk.hamming_loss(true, predicted)),
        "AUROC": sk.roc_auc_score(true, scores, average="macro"),
        "AUPRC": sk.average_precision_score(true, scores, average="macro"),
    }
    averages(want, true, predicted)
    return {"name": name, "scores": scores.ravel().tolist(), "targets": true.ravel().tolist(), "labels": k, "want": want}


def values(name, items, width):
    true = sixtyfourths(-4, 9, (items, width))
    predicted = true + sixtyfourths(-1, 1, (items, width))
    columns = range(width)
    want = {
        "MSE": sk.mean_squared_error(true, predicted),
        "RMSE": math.sqrt(sk.mean_squared_error(true, predicted)),
        "MAE": sk.mean_absolute_error(true, predicted),
        "MAPE": 100 * sk.mean_absolute_percentage_error(true, predicted),
        "R²": sk.r2_score(true, predicted),
        "Pearson": np.mean([stats.pearsonr(true[:, c], predicted[:, c])[0] for c in columns]),
        "Spearman": np.mean([stats.spearmanr(true[:, c], predicted[:, c])[0] for c in columns]),
    }
    return {"name": name, "predicted": predicted.ravel().tolist(), "targets": true.ravel().tolist(), "width": width, "want": want}


TEXTS = [
    ("The cat sat on the mat.", ["The cat is sitting on the mat.", "A cat sat on a mat."]),
    ("It costs $1,234.56, doesn't it?", ["It costs $1,234.56, does it not?"]),
    ("He said: \"no-one (really) knows\" &amp; left...", ["\"No-one really knows,\" he said & left."]),
    ("In the 1990-2000 period, 3.5% grew;", ["From 1990-2000, 3.5% grew."]),
    ("Größe und Übermut tun selten gut!", ["Übermut tut selten gut!", "Größe und Übermut tun selten gut."]),
    ("日本語の文 です", ["日本語の 文です。"]),
    ("short", ["a much longer reference sentence than that"]),
    ("", ["nothing was predicted"]),
    ("İstanbul and \u212aelvin <skipped> x", ["istanbul and kelvin y"]),
    ("  white\u00a0space\tand\nline -\nbreaks  ", ["white space and line breaks"]),
    ("the the the the the the the", ["the cat is on the mat", "there is a cat on the mat"]),
]


def texts(name, items):
    predicted, references = [p for p, _ in items], [r for _, r in items]
    n = max(map(len, references))
    streams = [[r[i] if i < len(r) else None for r in references] for i in range(n)]
    want = {
        "BLEU": BLEU().corpus_score(predicted, streams).score,
        "chrF2": CHRF().corpus_score(predicted, streams).score,
        "chrF2++": CHRF(word_order=2).corpus_score(predicted, streams).score,
    }
    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)
    for key, ours in [("rouge1", "ROUGE-1"), ("rouge2", "ROUGE-2"), ("rougeL", "ROUGE-L")]:
        best = [max(scorer.score(r, p)[key].fmeasure for r in refs) for p, refs in items]
        want[ours] = np.mean(best)
    for ours, split in [("CER", list), ("WER", str.split)]:
        wrong = length = 0
        for p, refs in items:
            counted = [(edits(split(p), split(r)), len(split(r))) for r in refs]
            least = min(counted, key=lambda c: c[0])
            wrong, length = wrong + least[0], length + least[1]
        want[ours] = 100 * wrong / length
    return {"name": name, "predicted": predicted, "references": references, "want": want}


def edits(a, b):
    """The distance of two lists, which become strings of one character for each element."""
    letters = {}
    a, b = ("".join(chr(0x4E00 + letters.setdefault(x, len(letters))) for x in s) for s in (a, b))
    return Levenshtein.distance(a, b)


def masks(name, items, k, pixels):
    scores = sixtyfourths(-2, 2, (items, k, pixels))
    true = rng.integers(0, k, (items, pixels))
    padded = rng.random(true.shape) < 0.05
    predicted = scores.argmax(axis=1)[~padded] if k > 1 else (scores[:, 0] > 0).astype(int)[~padded]
    if k == 1:
        true = rng.integers(0, 2, (items, pixels))
    t = true[~padded]
    want = {}
    for average in ["macro", "micro", "weighted"]:
        want[f"IoU ({average})"] = 100 * sk.jaccard_score(t, predicted, average=average)
        want[f"Dice ({average})"] = 100 * sk.f1_score(t, predicted, average=average)
    return {"name": name, "scores": scores.ravel().tolist(), "targets": np.where(padded, 255, true).ravel().tolist(), "pixels": pixels, "want": want}


def pictures(name, items, channels, height, width):
    true = rng.integers(0, 65, (items, channels, height, width)) / 64
    true[:, :, : height // 2] = np.sort(true[:, :, : height // 2], axis=-1)
    predicted = np.clip(true + rng.integers(-8, 9, true.shape) / 64, 0, 1)
    psnr, ssim = [], []
    for p, t in zip(predicted, true):
        psnr.append(peak_signal_noise_ratio(t, p, data_range=1))
        ssim.append(structural_similarity(
            t, p, data_range=1, channel_axis=0, gaussian_weights=True, sigma=1.5, use_sample_covariance=False))
    return {
        "name": name, "predicted": predicted.ravel().tolist(), "targets": true.ravel().tolist(),
        "channels": channels, "height": height, "width": width,
        "want": {"PSNR": np.mean(psnr), "SSIM": np.mean(ssim)},
    }


def boxes(name, items, k):
    targets, predicted = [], []
    for _ in range(items):
        target, guess = [], []
        for _ in range(rng.integers(0, 7)):
            left, top = sixtyfourths(0, 50, 2)
            w, h = sixtyfourths(4, 30, 2)
            crowd = bool(rng.random() < 0.1)
            target.append([left, top, left + w, top + h, int(rng.integers(0, k)), 0, crowd])
            for _ in range(rng.integers(0, 3)):
                l, t = left + sixtyfourths(-2, 2, ()), top + sixtyfourths(-2, 2, ())
                c = target[-1][4] if rng.random() < 0.9 else int(rng.integers(0, k))
                guess.append([l, t, l + w, t + h, c, 0, False])
        for _ in range(rng.integers(0, 3)):
            l, t = sixtyfourths(0, 50, 2)
            guess.append([l, t, l + 10, t + 10, int(rng.integers(0, k)), 0, False])
        targets.append(target)
        predicted.append(guess)
    total = sum(map(len, predicted))
    scores = iter(rng.permutation(total) / 1024)  # all different: equal scores have no order in COCO
    for guess in predicted:
        for b in guess:
            b[5] = float(next(scores))
    number = iter(range(1, 10**6))
    truth = COCO()
    truth.dataset = {
        "images": [{"id": i} for i in range(items)],
        "categories": [{"id": c} for c in range(k)],
        "annotations": [
            {"id": next(number), "image_id": i, "category_id": b[4], "bbox": [b[0], b[1], b[2] - b[0], b[3] - b[1]],
             "area": (b[2] - b[0]) * (b[3] - b[1]), "iscrowd": int(b[6])}
            for i, target in enumerate(targets) for b in target
        ],
    }
    want = {}
    with contextlib.redirect_stdout(sys.stderr):
        truth.createIndex()
        found = truth.loadRes([
            {"image_id": i, "category_id": b[4], "bbox": [b[0], b[1], b[2] - b[0], b[3] - b[1]], "score": b[5]}
            for i, guess in enumerate(predicted) for b in guess
        ])
        e = COCOeval(truth, found, "bbox")
        e.evaluate()
        e.accumulate()
        e.summarize()
    want["mAP@[0.5:0.95]"], want["mAP@0.5"], want["mAP@0.75"] = e.stats[:3]
    return {"name": name, "predicted": predicted, "targets": targets, "want": want}


def plain(x):
    """Numbers of NumPy as Python's."""
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, list):
        return [plain(v) for v in x]
    return x.item() if isinstance(x, np.generic) else x


json.dump(plain({
    "classes": [classes("five classes", 60, 5), classes("two classes", 50, 2), classes("absent class", 40, 6, absent=(3,))],
    "labels": [labels("four labels", 50, 4)],
    "values": [values("one value", 50, 1), values("three values", 40, 3)],
    "texts": [texts("all", TEXTS), texts("no sequence of four", TEXTS[4:5] + TEXTS[6:8]), texts("no match", TEXTS[7:8])],
    "masks": [masks("three classes", 3, 3, 30), masks("binary", 2, 1, 40)],
    "pictures": [pictures("colour", 2, 3, 14, 17)],
    "boxes": [boxes("three classes", 25, 3)],
}), sys.stdout, ensure_ascii=False)
print()
