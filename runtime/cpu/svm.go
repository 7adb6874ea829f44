package cpu

// SVMPairs computes the decision values of a support vector machine for every pair of classes. dst
// is [rows, pairs], for the pairs (0,1), (0,2), …, (1,2), …. src, [rows, vectors], holds the kernel
// function of each row and support vector. The vectors are in the order of their classes; counts
// holds the number of vectors of each class. coefficients is [len(counts)−1, vectors]. For a vector
// of class i, the coefficient against class j is in row j, or in row j−1 if j > i. rho has one
// element for each pair, which is added.
func SVMPairs(dst, src, coefficients, rho []float32, counts []int64, rows, vectors int) {
	classes := len(counts)
	pairs := classes * (classes - 1) / 2
	dst, src = trim(dst, volume(rows, pairs)), trim(src, volume(rows, vectors))
	coefficients, rho = trim(coefficients, volume(classes-1, vectors)), trim(rho, pairs)
	for r := range rows {
		to, kernel := dst[r*pairs:][:pairs], src[r*vectors:][:vectors]
		p, first := 0, 0
		for i, n := range counts {
			second := first + int(n)
			for j, m := range counts[i+1:] {
				sum := weigh(coefficients[(i+j)*vectors:][:vectors], kernel, first, int(n))
				sum += weigh(coefficients[i*vectors:][:vectors], kernel, second, int(m))
				to[p] = float32(sum + float64(rho[p]))
				p++
				second += int(m)
			}
			first += int(n)
		}
	}
}

// weigh returns the dot product of a[from:from+n] and b[from:from+n].
func weigh(a, b []float32, from, n int) float64 {
	a, b = a[from:from+n], b[from:from+n]
	sum := 0.0
	for i, v := range a {
		sum += float64(float32(v * b[i]))
	}
	return sum
}

// SVMVotes finds the class that wins most pairs, for each row. src, [len(dst), pairs], holds the
// decision values of [SVMPairs]. The first class of a pair wins if the decision value is above 0,
// and otherwise the second class wins. If several classes win equally many pairs, the first of them
// is taken.
func SVMVotes(dst []int64, src []float32, classes int) {
	pairs := classes * (classes - 1) / 2
	src = trim(src, volume(len(dst), pairs))
	for r := range dst {
		row := src[r*pairs:][:pairs]
		best, most := 0, -1
		for c := range classes {
			won := 0
			for other := range classes {
				if other != c && wins(row, classes, c, other) {
					won++
				}
			}
			if won > most {
				best, most = c, won
			}
		}
		dst[r] = int64(best)
	}
}

// wins reports whether class c wins against the class `other`. `row` holds a decision value for
// each pair of classes. If the value is positive, the class with the lower number wins.
func wins(row []float32, classes, c, other int) bool {
	if c < other {
		return row[pairOf(classes, c, other)] > 0
	}
	return !(row[pairOf(classes, other, c)] > 0)
}

// pairOf returns the index of the pair of classes i and j among all pairs; i < j. There are
// `classes` classes.
func pairOf(classes, i, j int) int { return i*(2*classes-i-1)/2 + j - i - 1 }

// SVMProbabilities computes the probability of each class. dst is [rows, classes]. src, [rows,
// pairs], holds the decision values of [SVMPairs]. For pair p with decision value v, the
// probability of the first class is 1/(1 + e^(a[p]·v + b[p])) (Platt). These probabilities are
// combined by the second method of Wu, Lin and Weng, "Probability estimates for multi-class
// classification by pairwise coupling" (2004). scratch holds classes·(2·classes + 1) elements.
func SVMProbabilities(dst, src, a, b, scratch []float32, rows, classes int) {
	pairs := classes * (classes - 1) / 2
	dst, src = trim(dst, volume(rows, classes)), trim(src, volume(rows, pairs))
	a, b, scratch = trim(a, pairs), trim(b, pairs), trim(scratch, classes*(2*classes+1))
	r, q, qp := scratch[:classes*classes], scratch[classes*classes:2*classes*classes], scratch[2*classes*classes:]
	for row := range rows {
		for i := range classes {
			for j := i + 1; j < classes; j++ {
				p := pairOf(classes, i, j)
				v := 1 - sigmoid32(float32(src[row*pairs+p]*a[p])+b[p])
				v = min(max(v, 1e-7), 1-1e-7)
				r[i*classes+j], r[j*classes+i] = v, 1-v
			}
		}
		coupleProbabilities(dst[row*classes:][:classes], r, q, qp)
	}
}

// coupleProbabilities computes the probabilities p of n classes from r. r[i, j] is the probability of
// class i if only i and j are possible; r is n×n. q, n×n, and qp are scratch memory.
func coupleProbabilities(p, r, q, qp []float32) {
	n := len(p)
	for i := range n {
		p[i] = 1 / float32(n)
		q[i*n+i] = 0
		for j := range n {
			if j != i {
				q[i*n+i] += float32(r[j*n+i] * r[j*n+i])
				q[i*n+j] = -float32(r[j*n+i] * r[i*n+j])
			}
		}
	}
	for range 100 {
		var pqp float32
		for i := range n {
			qp[i] = 0
			for j := range n {
				qp[i] += float32(q[i*n+j] * p[j])
			}
			pqp += float32(p[i] * qp[i])
		}
		var worst float32
		for _, v := range qp[:n] {
			worst = max(worst, v-pqp, pqp-v)
		}
		if worst < 0.005/float32(n) {
			break
		}
		for i := range n {
			step := (pqp - qp[i]) / q[i*n+i]
			p[i] += step
			pqp = (pqp + float32(step*(float32(step*q[i*n+i])+2*qp[i]))) / (1 + step) / (1 + step)
			for j := range n {
				qp[j] = (qp[j] + float32(step*q[i*n+j])) / (1 + step)
				p[j] /= 1 + step
			}
		}
	}
}
