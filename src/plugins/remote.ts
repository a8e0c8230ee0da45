import type { PluginConnection, PluginListener } from './child.ts'
import type { PluginHostAddress } from './plugin.ts'

export function connectRemote(
  _address: PluginHostAddress,
  _id: string,
  _listener: PluginListener,
): PluginConnection {
  throw new Error('not here yet')
}
