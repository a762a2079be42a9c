# Bagging of R's rpart trees, each pruned by rpart's own 10-fold cross-validation, timed from inside.
# Rscript rpart.R FOLDER SEED TREES
suppressPackageStartupMessages(library(rpart))
source("common.R")
trees <- as.integer(arguments[3])
frame <- data.frame(y = y, x)
frame_test <- data.frame(x_test)
control <- rpart.control(cp = 0, minsplit = 2, minbucket = 1, xval = 10, maxsurrogate = 0, maxcompete = 0)

pruned_tree <- function() {
  rows <- sample.int(nrow(frame), replace = TRUE)
  tree <- rpart(y ~ ., frame[rows, ], method = "class", parms = list(split = "gini"), control = control)
  # Of equally good trees the smallest; they are listed from the smallest on.
  prune(tree, cp = tree$cptable[which.min(tree$cptable[, "xerror"]), "CP"])
}

report(function() lapply(seq_len(trees), function(t) pruned_tree()),
       function(models) vote(models, function(tree) predict(tree, frame_test, type = "class")))
