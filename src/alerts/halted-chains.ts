import { type HeadState, haltedAfterMs } from '../networks/head-age.ts'
import { type Network, networkId } from '../networks/network.ts'
import type { Finding } from './alert.ts'

/** A network at one moment. */
export interface HeadSample {
  readonly network: Network
  /** The newest head; undefined when no endpoint has told it lately. */
  readonly state: HeadState | undefined
  /** This process has seen the network make a block, so an alert of an earlier process can end. */
  readonly advanced: boolean
  /** The notifications of the relayers on it. */
  readonly notifications: readonly string[]
}

/** Finds the networks that have made no block for longer than they pause by themselves. Pure. */
export function findHaltedChains(samples: readonly HeadSample[], now: Date): Finding[] {
  return samples.flatMap((sample) => {
    const limitMs = haltedAfterMs(sample.network)
    return limitMs === undefined ? [] : [evaluate(sample, limitMs, now)]
  })
}

function evaluate(
  { network, state, advanced, notifications }: HeadSample,
  limitMs: number,
  now: Date,
): Finding {
  const id = networkId(network)
  const ageMs = state?.ageMs ?? 0
  const isHalted = state?.halted === true
  return {
    kind: 'chain_halted',
    subject: id,
    state: isHalted ? 'firing' : state !== undefined && advanced ? 'over' : 'unclear',
    since: isHalted ? new Date(now.getTime() - ageMs) : undefined,
    notifications,
    detail: {
      message: isHalted
        ? `Network ${id} has made no block after ${state.number} for ${seconds(ageMs)} s. What is sent waits for the next one. Compare with an explorer: if it shows newer blocks, replace the endpoints.`
        : `Network ${id} makes blocks again.`,
      network: id,
      value: String(seconds(ageMs)),
      threshold: String(seconds(limitMs)),
    },
  }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1_000)
}
