# Two processes of the service on Cloud Run, behind its load balancer, on Cloud SQL for PostgreSQL with a synchronous standby. Secrets are in
# Secret Manager; Terraform makes their places and never sees them. The steps: docs/kubernetes.md, "Google Cloud with Terraform".

terraform {
  required_version = ">= 1.5"
  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "~> 7.0"
    }
  }
}

provider "google" {
  project = var.project
  region  = var.region
}

locals {
  apis = toset(["compute", "run", "secretmanager", "servicenetworking", "sqladmin"])

  # Each is a secret, and a variable of the service.
  secret_variables = toset(["API_KEY", "DATABASE_URL", "STORAGE_ENCRYPTION_KEY"])
}

resource "google_project_service" "api" {
  for_each           = local.apis
  service            = "${each.key}.googleapis.com"
  disable_on_destroy = false
}

# The database has no public address.
resource "google_compute_network" "relayer" {
  name                    = "relayer"
  auto_create_subnetworks = false
  depends_on              = [google_project_service.api]
}

resource "google_compute_subnetwork" "relayer" {
  name                     = "relayer"
  network                  = google_compute_network.relayer.id
  ip_cidr_range            = "10.8.0.0/24"
  private_ip_google_access = true
}

resource "google_compute_global_address" "database" {
  name          = "relayer-database"
  network       = google_compute_network.relayer.id
  purpose       = "VPC_PEERING"
  address_type  = "INTERNAL"
  prefix_length = 20
}

resource "google_service_networking_connection" "database" {
  network                 = google_compute_network.relayer.id
  service                 = "servicenetworking.googleapis.com"
  reserved_peering_ranges = [google_compute_global_address.database.name]
}

resource "google_sql_database_instance" "relayer" {
  name                = "relayer"
  database_version    = "POSTGRES_17"
  deletion_protection = true
  depends_on          = [google_service_networking_connection.database]

  settings {
    tier    = var.database_tier
    edition = "ENTERPRISE"
    # A standby in another zone that has every commit. A fail-over takes a minute or two, and keeps the address.
    availability_type           = "REGIONAL"
    deletion_protection_enabled = true

    backup_configuration {
      enabled                        = true
      point_in_time_recovery_enabled = true
    }

    ip_configuration {
      ipv4_enabled    = false
      private_network = google_compute_network.relayer.id
      ssl_mode        = "ENCRYPTED_ONLY"
    }
  }
}

# Its user has a password, so the user is made by hand and not here.
resource "google_sql_database" "relayer" {
  name     = "relayer"
  instance = google_sql_database_instance.relayer.name
}

resource "google_secret_manager_secret" "variable" {
  for_each   = local.secret_variables
  secret_id  = "relayer-${lower(replace(each.key, "_", "-"))}"
  depends_on = [google_project_service.api]

  replication {
    auto {}
  }
}

# The file config.json: not secret, and changed like one.
resource "google_secret_manager_secret" "config" {
  secret_id  = "relayer-config"
  depends_on = [google_project_service.api]

  replication {
    auto {}
  }
}

# Give it the rights to keys in Cloud KMS, and nothing else.
resource "google_service_account" "relayer" {
  account_id   = "relayer"
  display_name = "Relayer"
}

resource "google_secret_manager_secret_iam_member" "variable" {
  for_each  = google_secret_manager_secret.variable
  secret_id = each.value.id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.relayer.member
}

resource "google_secret_manager_secret_iam_member" "config" {
  secret_id = google_secret_manager_secret.config.id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.relayer.member
}

resource "google_cloud_run_v2_service" "relayer" {
  name                = "relayer"
  location            = var.region
  ingress             = "INGRESS_TRAFFIC_INTERNAL_ONLY"
  deletion_protection = true
  # The Authorization header has the API key of the service, so Cloud Run cannot check one of its own there.
  invoker_iam_disabled = true
  depends_on = [
    google_secret_manager_secret_iam_member.variable,
    google_secret_manager_secret_iam_member.config,
  ]

  template {
    service_account = google_service_account.relayer.email
    # Event streams stay open.
    timeout = "3600s"

    # Processes divide the accounts among themselves; more of them do not help an account.
    scaling {
      min_instance_count = 2
      max_instance_count = 2
    }

    vpc_access {
      egress = "PRIVATE_RANGES_ONLY"

      network_interfaces {
        network    = google_compute_network.relayer.id
        subnetwork = google_compute_subnetwork.relayer.id
      }
    }

    containers {
      image = var.image

      ports {
        container_port = 8080
      }

      resources {
        limits = {
          cpu    = "1"
          memory = "1Gi"
        }
        # It watches and sends without requests, too.
        cpu_idle = false
      }

      # Cloud Run kills a process 10 s after SIGTERM.
      env {
        name  = "RELAYER_SHUTDOWN_SECONDS"
        value = "8"
      }

      dynamic "env" {
        for_each = google_secret_manager_secret.variable
        content {
          name = env.key
          value_source {
            secret_key_ref {
              secret  = env.value.secret_id
              version = "latest"
            }
          }
        }
      }

      volume_mounts {
        name       = "config"
        mount_path = "/app/config"
      }

      startup_probe {
        period_seconds    = 5
        failure_threshold = 24
        http_get {
          path = "/api/v1/ready"
        }
      }

      liveness_probe {
        period_seconds    = 10
        failure_threshold = 6
        http_get {
          path = "/api/v1/health"
        }
      }
    }

    volumes {
      name = "config"
      secret {
        secret = google_secret_manager_secret.config.secret_id
        items {
          path    = "config.json"
          version = "latest"
        }
      }
    }
  }
}

output "url" {
  description = "Where the service listens, for callers in the project."
  value       = google_cloud_run_v2_service.relayer.uri
}

output "database_host" {
  description = "The private address of the database, for DATABASE_URL."
  value       = google_sql_database_instance.relayer.private_ip_address
}
