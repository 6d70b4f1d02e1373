extension ControlSocket: Service {}
