# Fit, or predict with, R's randomForest and time it from inside, so that starting R is not counted.
# Rscript randomforest.R JOB FOLDER SEED TREES MTRY SWITCHED; JOB is fit, switch or predict.
# Writes one line: CPU seconds, elapsed seconds, error on the test rows.
suppressPackageStartupMessages(library(randomForest))
arguments <- commandArgs(TRUE)
job <- arguments[1]
folder <- arguments[2]
numbers <- as.integer(arguments[3:6])
seed <- numbers[1]; trees <- numbers[2]; mtry <- numbers[3]; switched <- numbers[4]

size <- scan(file.path(folder, "size"), quiet = TRUE)  # rows, columns, test rows, classes
read <- function(name, count) readBin(file.path(folder, name), "double", count)
x <- matrix(read("X", size[1] * size[2]), size[1])
x_test <- matrix(read("X_test", size[3] * size[2]), size[3])
target <- read("y", size[1])
target_test <- read("y_test", size[3])
classes <- size[4]
as_classes <- function(codes) factor(codes, levels = seq_len(classes) - 1)
y <- if (classes > 0) as_classes(target) else target

fit <- function() randomForest(x, y, ntree = trees, mtry = mtry, nodesize = 1)

switched_tree <- function() {
  codes <- target
  rows <- sample.int(length(codes), switched)
  codes[rows] <- (codes[rows] + sample.int(classes - 1, switched, replace = TRUE)) %% classes
  randomForest(x, as_classes(codes), ntree = 1, mtry = mtry, replace = FALSE, sampsize = length(codes), nodesize = 1)
}

vote <- function(models) {
  counts <- matrix(0, nrow(x_test), classes)
  for (model in models) {
    where <- cbind(seq_len(nrow(x_test)), as.integer(predict(model, x_test)))
    counts[where] <- counts[where] + 1
  }
  max.col(counts, ties.method = "first") - 1
}

saved <- file.path(folder, "model.rds")
set.seed(seed)
if (job == "predict") {
  if (!file.exists(saved)) saveRDS(fit(), saved)
  model <- readRDS(saved)
}
invisible(gc())
start <- proc.time()
result <- switch(job,
  fit = fit(),
  switch = lapply(seq_len(trees), function(t) switched_tree()),
  predict = predict(model, x_test))
spent <- proc.time() - start
said <- switch(job, fit = predict(result, x_test), switch = vote(result), predict = result)
error <- if (classes > 0) {
  mean(as.integer(as.character(said)) != target_test)
} else {
  sqrt(mean((said - target_test)^2))
}
cat(spent[["user.self"]] + spent[["sys.self"]], spent[["elapsed"]], error, "\n")
