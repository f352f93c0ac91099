/** The contract of every long-lived part: started and stopped once, safe to stop twice or unstarted. */
export interface Service {
  start(): Promise<void>;
  stop(): Promise<void>;
}
