// Package together has tests alone: those that need several modules of contrib at once, and
// those that need libraries which none of these modules should ask of its users, such as the
// types of Kubernetes.
package together
