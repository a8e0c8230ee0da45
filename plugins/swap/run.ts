import { CallError } from '../shared/call-error.ts'
import { callApi, Unavailable, type World } from '../shared/host.ts'
import { isEnded, readWhole, type SentTransaction } from '../shared/transactions.ts'
import { advance, type Outcome } from './advance.ts'
import type { Settings, Swap } from './config.ts'

/** Between two looks, in ms: a node can be behind the one that told of a block. */
const LOOK_MS = 250

/** One request for a change waits at most so many seconds. */
const WAIT_SECONDS = 10

/**
 * Takes the steps of the swaps that are due, of one relayer or of all, until nothing is left to do or the
 * time is up: then the next run goes on. @throws CallError for an unknown relayer
 */
export async function run(
  relayerId: string | undefined,
  { swaps, timeoutMs }: Settings,
  world: World,
): Promise<readonly Outcome[]> {
  const chosen = swaps.filter((swap) => relayerId === undefined || swap.relayerId === relayerId)
  if (chosen.length === 0)
    throw new CallError(404, 'not_found', `No swap of the relayer ${relayerId} is configured.`)
  const deadline = world.now() + timeoutMs
  const relayers = [...new Set(chosen.map((swap) => swap.relayerId))]
  const outcomes = await Promise.all(
    relayers.map((relayer) =>
      runRelayer(relayer, { swaps: chosen.filter((swap) => swap.relayerId === relayer), deadline }, world),
    ),
  )
  return outcomes.flat()
}

async function runRelayer(
  relayerId: string,
  { swaps, deadline }: { readonly swaps: readonly Swap[]; readonly deadline: number },
  world: World,
): Promise<readonly Outcome[]> {
  for (;;) {
    const outcomes = await advance(relayerId, swaps, world).catch((error: unknown) => {
      if (!(error instanceof Unavailable)) throw error
      return swaps.map(({ id }) => unavailable(id, relayerId, error.message))
    })
    const waiting = outcomes.find(({ state }) => state === 'waiting')
    if (waiting?.transaction_id === undefined || waiting.awaits_approval || world.now() >= deadline)
      return outcomes
    await untilChanged(relayerId, waiting.transaction_id, { deadline, world })
  }
}

function unavailable(swap: string, relayer_id: string, message: string): Outcome {
  return { swap, relayer_id, state: 'refused', code: 'unavailable', message }
}

/** Waits until a block has the transaction, or makes it final, or for a while. */
async function untilChanged(
  relayerId: string,
  id: string,
  { deadline, world }: { readonly deadline: number; readonly world: World },
): Promise<void> {
  await world.sleep(LOOK_MS)
  try {
    const { status } = await readWhole<SentTransaction>(relayerId, { id }, world)
    const seconds = Math.min(WAIT_SECONDS, Math.ceil((deadline - world.now()) / 1000))
    if (seconds <= 0 || isEnded(status) || status === 'confirmed') return
    const query = `?wait=${status === 'mined' ? 'confirmed' : 'mined'}&timeout=${seconds}`
    const path = `/api/v1/relayers/${encodeURIComponent(relayerId)}/transactions/${id}`
    await callApi(world, { method: 'GET', path: `${path}${query}` })
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
  }
}
