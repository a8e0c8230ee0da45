import type { GenesisQuestion } from '../genesis.ts'

/** The question for block 0. Most nodes keep it even when they prune later blocks. */
export const GENESIS: GenesisQuestion = {
  call: { method: 'eth_getBlockByNumber', params: ['0x0', false] },
  read: (block) => (block as { readonly hash?: unknown } | null)?.hash,
}
