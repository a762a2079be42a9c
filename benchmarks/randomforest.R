# Fit, or predict with, R's randomForest and time it from inside, so that starting R is not counted.
# Rscript randomforest.R FOLDER SEED JOB TREES MTRY SWITCHED; JOB is fit, switch or predict.
suppressPackageStartupMessages(library(randomForest))
source("common.R")
job <- arguments[3]
numbers <- as.integer(arguments[4:6])
trees <- numbers[1]; mtry <- numbers[2]; switched <- numbers[3]

fit <- function() randomForest(x, y, ntree = trees, mtry = mtry, nodesize = 1)

switched_tree <- function() {
  codes <- target
  rows <- sample.int(length(codes), switched)
  codes[rows] <- (codes[rows] + sample.int(classes - 1, switched, replace = TRUE)) %% classes
  randomForest(x, as_classes(codes), ntree = 1, mtry = mtry, replace = FALSE, sampsize = length(codes), nodesize = 1)
}

said <- function(model) predict(model, x_test)

if (job == "predict") {
  saved <- file.path(folder, "model.rds")
  if (!file.exists(saved)) saveRDS(fit(), saved)
  model <- readRDS(saved)
}
switch(job,
  fit = report(fit, said),
  switch = report(function() lapply(seq_len(trees), function(t) switched_tree()), function(models) vote(models, said)),
  predict = report(function() said(model), identity))
