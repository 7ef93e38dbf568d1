import { OutboundError } from "../../../../../net/outbound-error.ts";
import { Outbound, type OutboundStreamRequest, type OutboundStreamResponse } from "../../../../../net/outbound.ts";

/** The network as sources use it. A server gives its {@link Outbound}, which guards against SSRF. */
export interface SourceNetwork {
  /** Sends one request; see {@link Outbound.open}. @throws OutboundError if there is no response */
  open(address: string, request: OutboundStreamRequest): Promise<OutboundStreamResponse>;
}

/** The network of commands, which the operator runs: all addresses may be reached, and failures are described. */
export function operatorNetwork(): SourceNetwork {
  const outbound = new Outbound({ allow: { isEmpty: false, has: () => true } });
  return {
    async open(address, request) {
      try {
        return await outbound.open(address, request);
      } catch (error) {
        throw error instanceof OutboundError ? new OutboundError(error.failure, error.message) : error;
      }
    },
  };
}
