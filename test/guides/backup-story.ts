import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { startAnvil } from '../support/anvil.ts'
import { startProcess } from '../support/process.ts'
import { API_KEY } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Receives what the stories send. */
export const TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** The fields of a record that the tests compare by name. */
interface Row {
  readonly id: string
  readonly status: string
  readonly status_reason?: string
  readonly nonce?: number
}

/** A running service. */
export type Service = Awaited<ReturnType<typeof startProcess>>

async function call(service: Service, path: string, init: RequestInit = {}): Promise<unknown> {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const response = await fetch(`${service.url}/api/v1/relayers/main/transactions${path}`, {
    ...init,
    headers,
  })
  const answer = (await response.json()) as { data: unknown; error?: string }
  if (!response.ok) throw new Error(answer.error)
  return answer.data
}

/** The transactions of the relayer, newest first, whole. */
export const list = async (service: Service) => (await call(service, '')) as Row[]

/** Reads a transaction. */
export const get = async (service: Service, id: string) => (await call(service, `/${id}`)) as Row

/** Sends a transaction. */
export const send = async (service: Service, value: number) =>
  (await call(service, '', {
    method: 'POST',
    body: JSON.stringify({ to: TO, value, speed: 'fast' }),
  })) as Row

/** Cancels a transaction. */
export const cancel = async (service: Service, id: string) =>
  (await call(service, `/${id}`, { method: 'DELETE' })) as Row

/** Replaces a transaction. */
export const replace = async (service: Service, id: string, value: number) =>
  (await call(service, `/${id}`, {
    method: 'PUT',
    body: JSON.stringify({ to: TO, value, speed: 'fastest' }),
  })) as Row

/** Waits until a transaction has a status. */
export const reach = (service: Service, id: string, status: string): Promise<Row> =>
  until(
    () => get(service, id),
    (row) => row.status === status,
  )

/** Sends a transaction and waits until it is final. */
export const sendAndConfirm = async (service: Service, value: number) =>
  reach(service, (await send(service, value)).id, 'confirmed')

/** A chain, which mines by itself unless told otherwise, and folders that are removed at the end. */
export async function setUpBackup(args: readonly string[] = ['--block-time', '1']) {
  const anvil = await startAnvil({ args })
  onTestFinished(() => anvil.stop())
  const root = await mkdtemp(join(tmpdir(), 'relayer-backup-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const backup = join(root, 'backup')
  await mkdir(backup)
  const start = async (
    name: string,
    { rpcUrl = anvil.url, ...env }: Record<string, string> = {},
    args: readonly string[] = [],
  ) => {
    const service = await startProcess({ rpcUrl, folder: join(root, name), env, args })
    onTestFinished(async () => void (await service.kill()))
    return service
  }
  return { anvil, root, backup, start }
}
