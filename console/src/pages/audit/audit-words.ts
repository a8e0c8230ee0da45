import type { Schemas } from '../../../../clients/typescript/src/index.ts'

type Entry = Schemas['AuditEntry']

/** What was done, in words that precede the record: `Canceled transaction …`. */
const WORDS: Readonly<Record<string, string>> = {
  createRelayer: 'Created',
  updateRelayer: 'Changed',
  deleteRelayer: 'Deleted',
  acceptNonces: 'Accepted the nonces of',
  registerAbi: 'Registered an ABI for',
  deleteAbi: 'Deleted an ABI of',
  signMessage: 'Signed a message with',
  signTypedData: 'Signed typed data with',
  signTransaction: 'Signed a transaction with',
  signAuthorizationEntry: 'Signed an authorization with',
  callRpc: 'Sent over the wallet endpoint of',
  sendTransaction: 'Sent',
  sendTransactionBatch: 'Sent in a batch',
  replaceTransaction: 'Replaced',
  cancelTransaction: 'Canceled',
  deletePendingTransactions: 'Canceled, with all others,',
  decideTransaction: 'Decided what happened to',
  decideApproval: 'Decided about',
  expireApproval: 'Expired without an approval:',
  undoReplacement: 'Took back a replacement of',
  createNotification: 'Created',
  updateNotification: 'Changed',
  deleteNotification: 'Deleted',
  pauseNotification: 'Paused',
  resumeNotification: 'Resumed',
  rotateSigningKey: 'Rotated the signing key of',
  redeliverDelivery: 'Sent a delivery again of',
  redeliverDeliveries: 'Sent deliveries again of',
  sendTestEvent: 'Sent a test event to',
  createSchedule: 'Created',
  updateSchedule: 'Changed',
  deleteSchedule: 'Deleted',
  decideSchedule: 'Decided about',
  createSigner: 'Created',
  createKey: 'Requested a key of a key service for',
  forgetKeyCreation: 'Forgot the created key of',
  deleteSigner: 'Deleted',
  updateNetwork: 'Changed',
  resetNetwork: 'Reset',
  createApiKey: 'Created',
  updateApiKey: 'Changed',
  deleteApiKey: 'Deleted',
  rotateApiKey: 'Rotated the secret of',
  signIn: 'Signed in:',
  endSession: 'Signed out a person:',
  endCurrentSession: 'Signed out:',
  proposeChange: 'Proposed a change:',
  decideProposal: 'Decided about',
  bypassSecondPerson: 'Changed without a second person:',
  createStreamTicket: 'Issued a stream ticket of',
  applyConfiguration: 'Applied the configuration file to',
  changeStorageKey: 'Changed the storage key of',
}

/**
 * Says what an entry is about; an action of a newer service keeps its own name. Changes of one switch have a
 * word of their own.
 */
export function actionOf({ action, after }: Pick<Entry, 'action' | 'after'>): string {
  const changes = Object.entries(after ?? {})
  const [[field, value] = []] = changes
  if (changes.length === 1 && action.startsWith('update')) {
    if (field === 'paused') return value ? 'Paused' : 'Resumed'
    if (field === 'disabled') return value ? 'Disabled' : 'Enabled'
  }
  if (action === 'decideApproval' && after?.decision)
    return after.decision === 'approved' ? 'Approved' : 'Refused'
  return WORDS[action] ?? action
}

const COLUMNS = ['at', 'actor', 'address', 'action', 'target_type', 'target_id', 'request_id', 'id'] as const

/**
 * Writes entries as CSV (RFC 4180), without their changes, which are records. A text that a table would run
 * as a formula is quoted as text.
 */
export function toCsv(entries: readonly Entry[]): string {
  const rows = entries.map((entry) => COLUMNS.map((column) => cellOf(entry[column] ?? '')).join(','))
  return `${[COLUMNS.join(','), ...rows].join('\r\n')}\r\n`
}

function cellOf(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
