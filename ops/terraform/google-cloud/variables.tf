variable "project" {
  description = "The id of the project."
  type        = string
}

variable "region" {
  description = "The region of everything, such as europe-west3."
  type        = string
}

variable "image" {
  description = "The image of the service, by its digest, in a registry that Cloud Run can read."
  type        = string

  validation {
    condition     = strcontains(var.image, "@sha256:")
    error_message = "image: expected a digest, such as europe-docker.pkg.dev/project/relayer/multichain-relayer@sha256:…"
  }
}

variable "database_tier" {
  description = "The size of the database: processors and memory."
  type        = string
  default     = "db-custom-2-7680"
}
