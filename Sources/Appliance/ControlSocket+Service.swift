import Control

extension ControlSocket: Service {}
