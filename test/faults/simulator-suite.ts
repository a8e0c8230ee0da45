import { describe, expect, test } from 'vitest'
import { runCampaign } from '../../scripts/faults/campaign.ts'
import type { StorageKind } from '../../scripts/faults/storage.ts'
import type { TestBedOptions } from '../../scripts/faults/test-bed.ts'

/** Histories with consecutive seeds on one chain and one database. */
export interface Campaign {
  readonly title: string
  readonly first: number
  readonly count: number
  readonly steps: number
  readonly endpoints: number
  readonly kills: boolean
  /** Where the chain has such accounts. */
  readonly channels?: number
  /** Where the chain has histories about fees. */
  readonly fees?: boolean
  /** Where nodes refuse some content permanently, in words that no one knows. */
  readonly refusals?: boolean
  /** Where the chain loses blocks that were final. */
  readonly reorganisations?: boolean
  /** A relayer of the chain has two accounts. */
  readonly pools?: boolean
  /** Processes of the service on one database. Default: 1. */
  readonly processes?: number
  /** Default: the embedded database. */
  readonly storage?: StorageKind
}

/** Far more than any of these takes on a busy machine. */
const DEADLINE_MS = 240_000

/**
 * A few dozen histories of the whole service; `npm run faults` runs as many as one likes. Each seed is a history of its
 * own, so a red one is replayed by `npm run faults -- --chain C --seed N --histories 1` with the other numbers as they
 * stand in the campaign.
 */
export function simulatorSuite(
  title: string,
  testChainOf: (campaign: Campaign) => TestBedOptions['startTestChain'],
  campaigns: readonly Campaign[],
): void {
  describe(title, () => {
    test.each(campaigns)(
      '$title',
      async (campaign) => {
        const { first, count, steps, kills, processes, storage } = campaign
        const broken: string[] = []
        const late = await runCampaign({
          seeds: Array.from({ length: count }, (_, index) => first + index),
          steps,
          kills,
          processes,
          storage,
          startTestChain: testChainOf(campaign),
          onHistory: ({ seed, violations }) => {
            broken.push(...violations.map((violation) => `seed ${seed}: ${violation}`))
            return true
          },
        })
        expect([...broken, ...late]).toEqual([])
      },
      DEADLINE_MS,
    )
  })
}
