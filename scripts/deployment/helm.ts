import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { ROOT } from '../clients/paths.ts'
import { run } from '../clients/run.ts'

export const CHART = 'ops/helm/multichain-relayer'

const VERSION = 'v3.22.0'

/** Helm stays here between runs; `npm ci` removes it. */
const BIN = `${ROOT}node_modules/.cache/helm-${VERSION}`
const HELM = `${BIN}/helm`

/** The version of Kubernetes that the chart is rendered for. Helm from the Go module proxy supposes an old one. */
const KUBERNETES = '1.34.0'

/** Installs Helm from the Go module proxy, unless it is there. Compiling it takes some minutes. */
export async function installHelm(): Promise<void> {
  if (existsSync(HELM)) return
  console.log(`Helm ${VERSION} is compiled once, which takes some minutes …`)
  await run(['go', 'install', `helm.sh/helm/v3/cmd/helm@${VERSION}`], { env: { GOBIN: BIN } })
}

/** What the checks read of a container. */
export interface Container {
  readonly name: string
  readonly securityContext?: unknown
  readonly env?: readonly { readonly name: string; readonly value?: string }[]
  readonly envFrom?: readonly unknown[]
  readonly volumeMounts: readonly { readonly name: string; readonly readOnly?: boolean }[]
  readonly [probe: `${string}Probe`]: { readonly httpGet: { readonly path: string } }
}

/** What the checks read of a pod. */
export interface Pod {
  readonly automountServiceAccountToken?: boolean
  readonly enableServiceLinks?: boolean
  readonly securityContext?: { readonly runAsNonRoot?: boolean }
  readonly containers: readonly Container[]
  readonly volumes: readonly { readonly name: string; readonly emptyDir?: object }[]
}

interface Spec {
  readonly template?: {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> }
    readonly spec: Pod
  }
  readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> } & Readonly<
    Record<string, unknown>
  >
}

/** An object of Kubernetes, as far as the checks read it. */
export interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
  readonly spec?: Spec
}

/** Lints the chart with values. @throws Error with what Helm says */
export async function lint(values: object): Promise<void> {
  await withValues(values, (file) => run([HELM, 'lint', '--strict', '--values', file, CHART]))
}

/** Renders the chart with values. @throws Error with what Helm says */
export async function render(values: object): Promise<readonly Manifest[]> {
  const text = await withValues(values, (file) =>
    run([HELM, 'template', 'test', CHART, '--kube-version', KUBERNETES, '--values', file]),
  )
  return parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? [])
}

async function withValues<T>(values: object, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-chart-'))
  try {
    const file = join(folder, 'values.json')
    await writeFile(file, JSON.stringify(values))
    return await use(file)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
