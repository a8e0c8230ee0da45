import { afterAll, beforeAll, expect, test } from 'vitest'
import { anvilNetwork } from '../support/anvil.ts'
import { callService, RECEIVER, type Transaction } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type ProcessStage, startProcessStage } from './process-stage.ts'

const ACCOUNTS = 12
const ADDED = 'added'

let stage: ProcessStage
beforeAll(async () => {
  stage = await startProcessStage(ACCOUNTS)
}, 60_000)
afterAll(() => stage.stop())

const liveProcesses = async () =>
  (
    await stage.database.query(
      'select id, cannot_act from processes where alive_until > now() order by started_at',
    )
  ).rows as { id: string; cannot_act: string[] }[]

test('during an upgrade that adds a network, the processes that have it work for all of its accounts', async () => {
  const urls = [stage.anvil.url]
  await stage.start({ networks: [anvilNetwork(urls)], relayers: [] })
  const networks = [anvilNetwork(urls), anvilNetwork(urls, { network: ADDED })]
  const upgraded = await stage.start({ networks, relayers: [] })
  const relayer = {
    name: ADDED,
    network: ADDED,
    network_type: 'evm',
    paused: false,
    signer_id: 'seed',
    accounts: [{ signer_id: 'seed', count: ACCOUNTS }],
  }
  const created = await callService<{ id: string }>(upgraded.url, {
    method: 'POST',
    path: '/relayers',
    body: relayer,
  })
  expect(created).toMatchObject({ status: 201 })
  const path = `/relayers/${created.body.data.id}/transactions`
  const isDone = ({ status }: { status: string }) => status === 'confirmed'
  const sent = await Promise.all(
    Array.from({ length: 3 * ACCOUNTS }, () =>
      callService<Transaction>(upgraded.url, {
        method: 'POST',
        path,
        body: { to: RECEIVER, value: 1, gas_limit: 21_000 },
      }),
    ),
  )
  expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 200))
  const all = await until(
    async () =>
      (await callService<Transaction[]>(upgraded.url, { method: 'GET', path: `${path}?per_page=100` })).body
        .data,
    (transactions) => transactions.every(isDone),
  )
  expect(new Set(all.map(({ from }) => from)).size).toBe(ACCOUNTS)

  const [old, current] = await liveProcesses()
  expect(old?.cannot_act).toHaveLength(ACCOUNTS)
  expect(current?.cannot_act).toEqual([])
  const { rows } = await stage.database.query(
    `select distinct owner from leases where name like 'account:%' and expires_at = 'infinity'`,
  )
  expect(rows).toEqual([{ owner: current?.id }])
}, 60_000)
