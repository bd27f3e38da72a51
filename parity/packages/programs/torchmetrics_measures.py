"""torchmetrics: measures of classification, regression, pictures and text, in batches and at once."""

import torch
import torchmetrics
import torchmetrics.functional as F

torch.manual_seed(0)
scores, target = torch.randn(60, 4).softmax(1), torch.randint(4, (60,))
for name in (
    "Accuracy",
    "Precision",
    "Recall",
    "F1Score",
    "AUROC",
    "AveragePrecision",
    "CohenKappa",
    "MatthewsCorrCoef",
    "ConfusionMatrix",
    "CalibrationError",
    "Specificity",
    "StatScores",
):
    metric = getattr(torchmetrics, name)(task="multiclass", num_classes=4)
    for s, t in zip(scores.split(20), target.split(20)):
        metric.update(s, t)
    value = metric.compute()
    print(name, [round(v, 5) for v in value.flatten().float().tolist()])
pred, true = torch.randn(50), torch.randn(50)
for name in (
    "MeanSquaredError",
    "MeanAbsoluteError",
    "R2Score",
    "ExplainedVariance",
    "PearsonCorrCoef",
    "SpearmanCorrCoef",
    "KendallRankCorrCoef",
    "ConcordanceCorrCoef",
):
    metric = getattr(torchmetrics, name)()
    batch = metric(pred, true + pred)
    print(name, round(batch.item(), 5), round(metric.compute().item(), 5))
images = torch.rand(2, 3, 32, 32)
noisy = (images + 0.1 * torch.randn_like(images)).clamp(0, 1)
print("ssim", round(F.structural_similarity_index_measure(noisy, images, data_range=1.0).item(), 5))
print("psnr", round(F.peak_signal_noise_ratio(noisy, images, data_range=1.0).item(), 5))
print("total variation", round(F.image.total_variation(images).item(), 3))
print(
    "wer",
    round(F.word_error_rate(["this is it"], ["this was it"]).item(), 5),
    "perplexity",
    round(F.text.perplexity(torch.randn(2, 5, 7), torch.randint(7, (2, 5))).item(), 4),
)
print(
    "retrieval",
    round(
        torchmetrics.retrieval.RetrievalMAP()(
            torch.rand(12), torch.randint(2, (12,)), indexes=torch.arange(12) // 4
        ).item(),
        5,
    ),
)
both = torchmetrics.MetricCollection(
    {"mse": torchmetrics.MeanSquaredError(), "mae": torchmetrics.MeanAbsoluteError()}
)
both(pred, true)
print({k: round(v.item(), 5) for k, v in both.compute().items()})
p = pred.clone().requires_grad_()
F.pearson_corrcoef(p, true).backward()
print("gradient", round(p.grad.abs().sum().item(), 5))
tracker = torchmetrics.MetricTracker(torchmetrics.MeanMetric(), maximize=True)
for v in (1.0, 3.0, 2.0):
    tracker.increment()
    tracker.update(v)
print("best", tracker.best_metric())
