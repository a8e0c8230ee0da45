import { openEvm } from './live-evm.ts'
import { type LiveNetwork, type LiveTarget, readTarget } from './live-network.ts'
import { openSolana } from './live-solana.ts'
import { openStellar } from './live-stellar.ts'

const OPEN: Readonly<Record<LiveTarget['chain'], (target: LiveTarget) => Promise<LiveNetwork>>> = {
  evm: openEvm,
  stellar: openStellar,
  solana: openSolana,
}

/** The network of the command line. */
export function openNetwork(): Promise<LiveNetwork> {
  const target = readTarget()
  return OPEN[target.chain](target)
}
