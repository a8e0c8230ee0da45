import type { Relayer } from '../../relayers/relayer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { Replacing } from '../replace/replacement.ts'
import { dryReplace } from './dry-replace.ts'
import type { DryRun } from './dry-run.ts'
import { drySend, type Sending } from './dry-send.ts'

/** Requests that change nothing, and tell what would happen. */
export interface DryRuns {
  send(relayer: Relayer, sending: Sending): Promise<DryRun>
  /** @throws AppError `transaction_not_found` */
  replace(replacing: Replacing): Promise<DryRun>
}

/** Creates the dry runs of this process. */
export function createDryRuns(context: TransactionsContext): DryRuns {
  return {
    send: (relayer, sending) => drySend(context, relayer, sending),
    replace: (replacing) => dryReplace(context, replacing),
  }
}
