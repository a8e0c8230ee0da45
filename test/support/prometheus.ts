import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { until } from './until.ts'

/** A series with its newest value. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>
  /** The time in seconds, and the number as text. */
  readonly value: readonly [number, string]
}

/** A rule as Prometheus evaluates it. */
export interface Rule {
  readonly name: string
  /** `ok`, `unknown` before the first evaluation, or `err`. */
  readonly health: string
  readonly state: string
}

/** A Prometheus with its data in a temporary folder. */
export interface Prometheus {
  /** Evaluates an expression now. It throws when Prometheus refuses the expression. */
  query(expression: string): Promise<readonly Series[]>
  rules(): Promise<readonly Rule[]>
  stop(): Promise<void>
}

/** Returns true if `prometheus` and `promtool` can be started. Debian has them in its package `prometheus`. */
export function hasPrometheus(): boolean {
  try {
    for (const program of ['prometheus', 'promtool'])
      execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Starts Prometheus with this configuration, in YAML or JSON, and waits until it answers. */
export async function startPrometheus(configuration: string): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-prometheus-'))
  const file = join(folder, 'prometheus.yml')
  await writeFile(file, configuration)
  const address = `127.0.0.1:${await freePort()}`
  const child = spawn(
    'prometheus',
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const ended = once(child, 'exit')
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const ask = async <Data>(path: string): Promise<Data> => {
    const response = await fetch(`http://${address}${path}`)
    const body = (await response.json()) as { status: string; data: Data; error?: string }
    if (body.status !== 'success') throw new Error(`Prometheus refuses ${path}: ${body.error}`)
    return body.data
  }
  const isReady = () =>
    fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until(isReady, (ready) => ready)
  return {
    query: async (expression) => {
      const path = `/api/v1/query?query=${encodeURIComponent(expression)}`
      return (await ask<{ result: readonly Series[] }>(path)).result
    },
    rules: async () => {
      const { groups } = await ask<{ groups: readonly { rules: readonly Rule[] }[] }>('/api/v1/rules')
      return groups.flatMap(({ rules }) => rules)
    },
    stop: async () => {
      process.off('exit', kill)
      child.kill()
      await ended
      await rm(folder, { recursive: true })
    },
  }
}
