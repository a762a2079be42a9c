# What the scripts share: the data of FOLDER, votes, and the clock. Arguments start with FOLDER SEED.
arguments <- commandArgs(TRUE)
folder <- arguments[1]
set.seed(as.integer(arguments[2]))

size <- scan(file.path(folder, "size"), quiet = TRUE)  # rows, columns, test rows, classes
read <- function(name, count) readBin(file.path(folder, name), "double", count)
x <- matrix(read("X", size[1] * size[2]), size[1])
x_test <- matrix(read("X_test", size[3] * size[2]), size[3])
target <- read("y", size[1])
target_test <- read("y_test", size[3])
classes <- size[4]
as_classes <- function(codes) factor(codes, levels = seq_len(classes) - 1)
y <- if (classes > 0) as_classes(target) else target

# The class with most votes; `say` gives a model's factor of classes.
vote <- function(models, say) {
  counts <- matrix(0, nrow(x_test), classes)
  for (model in models) {
    where <- cbind(seq_len(nrow(x_test)), as.integer(say(model)))
    counts[where] <- counts[where] + 1
  }
  max.col(counts, ties.method = "first") - 1
}

# Does the work and writes one line: CPU seconds, elapsed seconds, error on the test rows of what `say` makes of it.
report <- function(work, say) {
  invisible(gc())
  start <- proc.time()
  result <- work()
  spent <- proc.time() - start
  said <- say(result)
  error <- if (classes > 0) {
    mean(as.integer(as.character(said)) != target_test)
  } else {
    sqrt(mean((said - target_test)^2))
  }
  cat(spent[["user.self"]] + spent[["sys.self"]], spent[["elapsed"]], error, "\n")
}
