import { isRecord, type World } from '../shared/host.ts'
import type { Swap } from './config.ts'

/** Why nothing is sold at a router. */
export interface Stop {
  /** The transaction at which an operator has to look. */
  readonly id: string
  readonly problem: string
}

/** Stops a router for all swaps, in all processes, until an operator names the transaction. */
export async function stopRouter(router: string, { id, problem }: Stop, world: World): Promise<void> {
  console.error(
    `${problem} Nothing is sold at ${router} until an operator has looked at the transaction ${id}.`,
  )
  await world.kv.set(`stop:${router}`, { id, problem })
}

/** Returns why a router is stopped; undefined if it is not, or the operator has looked since. */
export async function readStop(
  router: string,
  { lookedAt }: Pick<Swap, 'lookedAt'>,
  world: World,
): Promise<Stop | undefined> {
  const value = await world.kv.get(`stop:${router}`)
  if (!isRecord(value) || typeof value.id !== 'string' || value.id === lookedAt) return undefined
  return { id: value.id, problem: String(value.problem) }
}
