import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { startAnvil } from '../support/anvil.ts'
import { type Prometheus, startPrometheus } from '../support/prometheus.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Scenario, scenarioOf } from '../support/scenario.ts'
import { NOWHERE, RECEIVER, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const pathOf = (name: string) => fileURLToPath(new URL(`../../ops/${name}`, import.meta.url))

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}
interface Variable {
  readonly name: string
  readonly type: string
  readonly definition?: string
}
interface Dashboard {
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly Variable[] }
}

const dashboard: Dashboard = JSON.parse(readFileSync(pathOf('grafana/relayer.json'), 'utf8'))
const alerts: { groups: { rules: { alert: string }[] }[] } = parse(
  readFileSync(pathOf('prometheus/alerts.yml'), 'utf8'),
)
const alertNames = alerts.groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))

/** Panels of what did not happen here. */
const QUIET = ['Created, confirmed and failed: 3']

const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }, index) => [`${title}: ${index + 1}`, expr] as const),
)

let receiver: Receiver
let story: Scenario
let prometheus: Prometheus
let stopSending: () => Promise<void>

/** The configuration of the folder, with the service of this test as the only target, and often enough for it. */
function configurationFor(target: string): string {
  const configuration = parse(readFileSync(pathOf('prometheus/prometheus.yml'), 'utf8'))
  const [job] = configuration.scrape_configs
  return JSON.stringify({
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: configuration.rule_files.map((name: string) => pathOf(`prometheus/${name}`)),
    scrape_configs: [{ ...job, static_configs: [{ targets: [target] }] }],
  })
}

/** Grafana puts the values of its variables into an expression. */
function withVariables(expression: string): string {
  return expression
    .replaceAll('$job', 'relayer')
    .replaceAll('$network', '.*')
    .replaceAll('$relayer', '.*')
    .replaceAll('$__rate_interval', '30s')
}

/** The next health check, which reads balances and nonces, is over after this time, in ms. */
const HEALTH_CHECKED_MS = 60_000

/** The time between two transactions, in ms. Rates need events between two looks of Prometheus. */
const PACE_MS = 250

/** Sends one transaction after the other until the returned function is called. */
function sendOn(): () => Promise<void> {
  const end = new AbortController()
  const sending = (async () => {
    while (!end.signal.aborted) {
      await story.send({ to: RECEIVER, value: 1, speed: 'fast' })
      await pause(PACE_MS)
    }
  })()
  return () => {
    end.abort()
    return sending
  }
}

beforeAll(async () => {
  receiver = await startReceiver()
  // A receiver that has a fault in one of several events: some deliveries arrive and some wait.
  receiver.behave(({ body }) => (body.payload.status === 'mined' ? 500 : 200))
  const anvil = await startAnvil({ args: ['--block-time', '1'] })
  const service = await startService({
    // No one is at the second endpoint.
    rpcUrls: [anvil.url, NOWHERE],
    notificationUrl: receiver.url,
    env: { METRICS_ENABLED: 'true', METRICS_PORT: '0' },
  })
  story = scenarioOf(anvil, service)
  prometheus = await startPrometheus(configurationFor(new URL(service.metricsUrl ?? '').host))
  stopSending = sendOn()
}, 60_000)
afterAll(async () => {
  await stopSending()
  await prometheus.stop()
  await story.stop()
  await receiver.stop()
})

test('promtool accepts the configuration, and each alert fires when it should and not before', () => {
  const promtool = (...args: string[]) => execFileSync('promtool', args, { encoding: 'utf8', stdio: 'pipe' })
  expect(promtool('check', 'config', pathOf('prometheus/prometheus.yml'))).toContain('SUCCESS')
  expect(promtool('test', 'rules', pathOf('prometheus/alerts.test.yml'))).toContain('SUCCESS')
  const tests = readFileSync(pathOf('prometheus/alerts.test.yml'), 'utf8')
  expect(alertNames.filter((name) => !tests.includes(`alertname: ${name}\n`))).toEqual([])
})

describe('a Prometheus that scrapes the service', () => {
  test.each(queries.filter(([name]) => !QUIET.includes(name)))(
    'has values for the panel "%s"',
    async (_name, expression) => {
      const series = await until(
        () => prometheus.query(withVariables(expression)),
        (found) => found.length > 0 && found.every(({ value: [, number] }) => number !== 'NaN'),
        { timeoutMs: HEALTH_CHECKED_MS },
      )
      expect(series.map(({ value }) => Number(value[1]))).not.toContain(Number.NaN)
    },
    HEALTH_CHECKED_MS,
  )

  test('accepts the expressions of what did not happen', async () => {
    for (const [name, expression] of queries)
      if (QUIET.includes(name)) expect(await prometheus.query(withVariables(expression))).toEqual([])
  })

  test('has values for the variables of the dashboard', async () => {
    for (const { name, definition } of dashboard.templating.list) {
      if (definition === undefined) continue
      const [, selector, label] = /^label_values\((.+), (\w+)\)$/.exec(definition) ?? []
      const series = await prometheus.query(withVariables(selector ?? ''))
      expect(series.map(({ metric }) => metric[label ?? '']).filter(Boolean), name).not.toEqual([])
    }
  })

  test('evaluates every rule, and sees the endpoint that is down', async () => {
    const rules = await until(
      () => prometheus.rules(),
      (all) => all.some(({ name, state }) => name === 'RelayerEndpointDown' && state === 'pending'),
    )
    expect(rules.map(({ name }) => name).toSorted()).toEqual(alertNames.toSorted())
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([])
    expect(rules.filter(({ state }) => state === 'firing')).toEqual([])
  })
})
