"""Writes torchmetrics.json: what torchmetrics computes of the outputs in reference.json.

    python3 make_torchmetrics.py > torchmetrics.json

needs torchmetrics; the numbers are those of version 1.9.0. Sums of torchmetrics are float32 in many places, also where
scores are float64. Left out is what torchmetrics does not have, and where it has another definition:

- AUROC of outputs in which a class does not occur, which torchmetrics counts as 0 in the mean.
- BLEU of texts without a common sequence of four words, which torchmetrics does not smooth.
- CER and WER of several references. The first reference of each text is taken instead.
- chrF, where torchmetrics differs from sacrebleu, whose numbers are in reference.json.
- SSIM, where torchmetrics also counts windows that leave the picture. scikit-image's numbers are in reference.json.
- The average precision of boxes, which torchmetrics computes by pycocotools, as make.py does.
"""

import json
import sys
import warnings
from pathlib import Path

import torch
import torchmetrics.functional as f
from torchmetrics.functional import classification as c

warnings.filterwarnings("ignore")


def averages(want, kind, scores, targets, more):
    for average in ["macro", "micro", "weighted"]:
        args = dict(more, average=average)
        name = f" ({average})"
        want["precision" + name] = 100 * getattr(c, kind + "_precision")(scores, targets, **args)
        want["recall" + name] = 100 * getattr(c, kind + "_recall")(scores, targets, **args)
        want["F1" + name] = 100 * getattr(c, kind + "_f1_score")(scores, targets, **args)
        want["F2" + name] = 100 * getattr(c, kind + "_fbeta_score")(scores, targets, beta=2.0, **args)
        want["Jaccard" + name] = 100 * getattr(c, kind + "_jaccard_index")(scores, targets, **args)


def classes(case):
    targets = torch.tensor(case["targets"])
    scores = torch.tensor(case["scores"], dtype=torch.float64).reshape(len(targets), -1)
    k = scores.shape[1]
    probabilities = scores.softmax(dim=1)
    more = dict(num_classes=k, ignore_index=99)
    want = {
        "accuracy": 100 * c.multiclass_accuracy(probabilities, targets, average="micro", **more),
        "kappa": c.multiclass_cohen_kappa(probabilities, targets, **more),
        "MCC": c.multiclass_matthews_corrcoef(probabilities, targets, **more),
        "calibration error (15 bins)": 100 * c.multiclass_calibration_error(probabilities, targets, n_bins=15, **more),
        "log loss": f.text.perplexity(scores[None], targets[None], ignore_index=99).log(),
    }
    averages(want, "multiclass", probabilities, targets, more)
    if k == 2:
        one = probabilities[:, 1]
        want["AUROC"] = c.binary_auroc(one, targets, ignore_index=99)
        want["AUPRC"] = c.binary_average_precision(one, targets, ignore_index=99)
    else:
        want["top-3 accuracy"] = 100 * c.multiclass_accuracy(probabilities, targets, average="micro", top_k=3, **more)
        if len(targets[targets != 99].unique()) == k:
            want["AUROC"] = c.multiclass_auroc(probabilities, targets, **more)
        want["AUPRC"] = c.multiclass_average_precision(probabilities, targets, **more)
    return want


def labels(case):
    k = case["labels"]
    scores = torch.tensor(case["scores"], dtype=torch.float64).reshape(-1, k)
    targets = torch.tensor(case["targets"]).reshape(-1, k)
    scores, more = scores.sigmoid(), dict(num_labels=k)
    want = {
        "exact match": 100 * c.multilabel_exact_match(scores, targets, **more),
        "Hamming score": 100 * (1 - c.multilabel_hamming_distance(scores, targets, average="micro", **more)),
        "AUROC": c.multilabel_auroc(scores, targets, **more),
        "AUPRC": c.multilabel_average_precision(scores, targets, **more),
    }
    averages(want, "multilabel", scores, targets, more)
    return want


def values(case):
    predicted, targets = (torch.tensor(case[x], dtype=torch.float64).reshape(-1, case["width"]) for x in ("predicted", "targets"))
    return {
        "MSE": f.mean_squared_error(predicted, targets),
        "RMSE": f.mean_squared_error(predicted, targets, squared=False),
        "MAE": f.mean_absolute_error(predicted, targets),
        "MAPE": 100 * f.mean_absolute_percentage_error(predicted, targets),
        "R²": f.r2_score(predicted, targets),
        "Pearson": f.pearson_corrcoef(predicted, targets).mean(),
        "Spearman": f.spearman_corrcoef(predicted, targets).mean(),
    }


def texts(case):
    predicted, references = case["predicted"], case["references"]
    want = {}
    bleu = f.text.sacre_bleu_score(predicted, references)
    if bleu > 0:
        want["BLEU"] = 100 * bleu
    for key, ours in [("rouge1", "ROUGE-1"), ("rouge2", "ROUGE-2"), ("rougeL", "ROUGE-L")]:
        want[ours] = f.text.rouge_score(predicted, references, accumulate="best", rouge_keys=key)[key + "_fmeasure"]
    first = [r[0] for r in references]
    want["CER of the first reference"] = 100 * f.text.char_error_rate(predicted, first)
    want["WER of the first reference"] = 100 * f.text.word_error_rate(predicted, first)
    return want


def masks(case):
    targets = torch.tensor(case["targets"]).reshape(-1, case["pixels"])
    scores = torch.tensor(case["scores"], dtype=torch.float64).reshape(len(targets), -1, case["pixels"])
    kind, more = "multiclass", dict(num_classes=max(2, scores.shape[1]), ignore_index=255)
    if scores.shape[1] == 1:
        scores = torch.cat([-scores, scores], dim=1)  # two classes, as ours
    want = {}
    for average in ["macro", "micro", "weighted"]:
        want[f"IoU ({average})"] = 100 * getattr(c, kind + "_jaccard_index")(scores, targets, average=average, **more)
        want[f"Dice ({average})"] = 100 * getattr(c, kind + "_f1_score")(scores, targets, average=average, **more)
    return want


def pictures(case):
    shape = (-1, case["channels"], case["height"], case["width"])
    predicted, targets = (torch.tensor(case[x], dtype=torch.float64).reshape(shape) for x in ("predicted", "targets"))
    return {"PSNR": f.peak_signal_noise_ratio(predicted, targets, data_range=1.0, dim=(1, 2, 3))}


reference = json.loads((Path(__file__).parent / "reference.json").read_text())
groups = dict(classes=classes, labels=labels, values=values, texts=texts, masks=masks, pictures=pictures)
json.dump(
    {group: {case["name"]: {k: float(v) for k, v in make(case).items()} for case in reference[group]} for group, make in groups.items()},
    sys.stdout, ensure_ascii=False, indent=1)
print()
