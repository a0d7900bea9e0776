// Package normalise brings the columns of two domains to each other, and says what is odd
// about them: rows of numbers, of which no label of the target is read.
//
// [StatisticsOf] and [Standardised] give each domain's columns mean 0 and deviation 1, which
// moves its classes where the domains' class shares differ. [Match] finds shares and map
// together. [Ranges] bounds columns that a few values dominate. [Dominating], [Marks] and
// [Counting] name columns for people to look at.
package normalise
